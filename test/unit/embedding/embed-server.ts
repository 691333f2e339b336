// A real HTTP server for the embedder's tests: each request goes to a handler that the test can swap.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface EmbedRequest {
  readonly texts: string[];
  /** everything that was sent */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage["headers"];
  readonly url: string;
}

/** An object is sent as JSON; a string or a number is sent as the raw body or the bare status. */
export type EmbedHandler = (
  request: EmbedRequest,
  response: ServerResponse,
) => object | string | number | undefined | Promise<object | string | number | undefined>;

export interface EmbedServer {
  readonly url: string;
  readonly requests: EmbedRequest[];
  handler: EmbedHandler;
  close(): Promise<void>;
}

/** One vector of `[length of the text, 1]` for each text. */
export const goodAnswer: EmbedHandler = ({ texts }) => ({
  embeddings: texts.map((text) => [text.length, 1]),
  dimensions: 2,
  model: "stub",
});

export async function startEmbedServer(handler: EmbedHandler = goodAnswer): Promise<EmbedServer> {
  const requests: EmbedRequest[] = [];
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
    const texts = (body["texts"] ?? body["input"]) as string[];
    const request = { texts, body, headers: message.headers, url: message.url ?? "" };
    requests.push(request);
    const answer = await state.handler(request, response);
    if (answer === undefined || response.destroyed) return;
    if (typeof answer === "number") response.writeHead(answer, { location: "/elsewhere" }).end("secret page");
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const state: EmbedServer = {
    url: `http://127.0.0.1:${port}/embed`,
    requests,
    handler,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}
