// A file server on loopback that can be made to misbehave: it breaks off, lies, stays silent, sends elsewhere.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface FileServer {
  /** without a slash at its end */
  readonly url: string;
  /** path -> content */
  readonly files: Map<string, Buffer>;
  /** what was asked for: path, and the range where one was */
  readonly requests: { path: string; range: string | undefined; authorization: string | undefined }[];
  /** answers instead of the server when it returns true */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Gone when the test is over. */
export async function startFileServer(files: Record<string, Buffer | string> = {}): Promise<FileServer> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    const { range, authorization } = request.headers;
    state.requests.push({ path, range, authorization });
    if (state.intercept(request, response)) return;
    const content = state.files.get(path);
    if (content === undefined) response.writeHead(404).end("not here");
    else sendFile(content, range, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const state: FileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files: new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])),
    requests: [],
    intercept: () => false,
  };
  return state;
}

function sendFile(content: Buffer, range: string | undefined, response: ServerResponse): void {
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
  if (start === 0) {
    response.writeHead(200, { "content-length": content.length }).end(content);
  } else if (start >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
  } else {
    const rest = content.subarray(start);
    const contentRange = `bytes ${start}-${content.length - 1}/${content.length}`;
    response.writeHead(206, { "content-length": rest.length, "content-range": contentRange }).end(rest);
  }
}

/**
 * Sends the beginning of a file, and breaks the connection when `hasArrived` says so: a client drops what it has
 * not read yet.
 */
export function breakOff(
  content: Buffer,
  after: number,
  response: ServerResponse,
  hasArrived: () => boolean,
): true {
  response.writeHead(200, { "content-length": content.length });
  response.write(content.subarray(0, after));
  const timer = setInterval(() => {
    if (!hasArrived() && !response.destroyed) return;
    clearInterval(timer);
    response.destroy();
  }, 5);
  return true;
}

export function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
