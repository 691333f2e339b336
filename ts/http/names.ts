// Under which names this server may be called. A web page that points its own name at this machine (DNS
// rebinding) sends that name as Host, so foreign names are refused on every route, before anything is read.

import { isIP } from "node:net";

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

export interface NameRules {
  /** the address that the server listens on */
  readonly host: string;
  readonly allowedHosts: readonly string[];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a `Host` header may be answered. */
export function isAllowedHost(header: string | undefined, rules: NameRules): boolean {
  const name = header === undefined ? null : hostName(`http://${header}`);
  if (name === null || /[@/?#\\]/.test(header ?? "")) return false;
  if (isNamed(name, rules)) return true;
  // Rebinding needs a name: an address that somebody typed is fine where other machines may call at all.
  return !isLoopback(rules.host) && isIP(name) !== 0;
}

/** Whether an `Origin` header may be answered; callers that are no browser send none. */
export function isAllowedOrigin(header: string | undefined, rules: NameRules): boolean {
  if (header === undefined) return true;
  if (!/^https?:\/\//i.test(header)) return false;
  const name = hostName(header);
  return name !== null && isNamed(name, rules);
}

function isNamed(name: string, { host, allowedHosts }: NameRules): boolean {
  return LOOPBACK.includes(name) || name === host.toLowerCase() || allowedHosts.includes(name);
}

function hostName(url: string): string | null {
  if (!URL.canParse(url)) return null;
  return new URL(url).hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
