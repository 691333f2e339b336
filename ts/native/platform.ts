// Which binary this process can load: operating system, architecture and C library, named as napi-rs names
// its platform packages. It runs no other program.

import { readFileSync } from "node:fs";

export interface Platform {
  readonly os: string;
  readonly arch: string;
  /** null where the system has only one */
  readonly libc: "gnu" | "musl" | null;
  /** `linux-x64-gnu`; also for systems that no binary exists for */
  readonly triple: string;
}

/** The platform of this process. */
export function detectPlatform(): Platform {
  const libc = process.platform === "linux" ? detectLibc() : null;
  return platformOf(process.platform, process.arch, libc);
}

export function platformOf(os: string, arch: string, libc: Platform["libc"]): Platform {
  const abi = os === "win32" ? "msvc" : libc;
  return { os, arch, libc, triple: [os, arch, abi].filter((part) => part !== null).join("-") };
}

/** The C library that is mapped into this process, not the one that is installed beside it. */
function detectLibc(): "gnu" | "musl" {
  try {
    return libcOfMappings(readFileSync("/proc/self/maps", "utf8")) ?? libcOfReport();
  } catch {
    return libcOfReport();
  }
}

/** null when neither library's loader is named, as in a static program. */
export function libcOfMappings(maps: string): "gnu" | "musl" | null {
  if (maps.includes("/ld-musl-")) return "musl";
  return /\/(libc\.so\.6|ld-linux|libc-2\.)/.test(maps) ? "gnu" : null;
}

/** Slower, since a report looks at the network too; only glibc puts its version there. */
function libcOfReport(): "gnu" | "musl" {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined ? "musl" : "gnu";
}
