// An embedding server on loopback for comparing two memory servers: both pay the same for their vectors. A text
// is the sum of its words' directions; nothing here knows what words mean.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom } from "../../maintenance/separation.js";

const DIMENSION = 384;

export interface EmbedServer {
  /** the address of its `/embed` route */
  readonly url: string;
  /** what that route answers for one text */
  embed(text: string): number[];
  close(): void;
}

export async function startEmbedServer(): Promise<EmbedServer> {
  const known = new Map<string, Float32Array>();
  const embed = (text: string): number[] => {
    const sum = new Float32Array(DIMENSION);
    for (const word of text.toLowerCase().split(/[\s。]+/)) {
      const direction = known.get(word) ?? directionOf(word);
      known.set(word, direction);
      for (let i = 0; i < DIMENSION; i++) sum[i] = (sum[i] as number) + (direction[i] as number);
    }
    const norm = Math.hypot(...sum);
    return Array.from(sum, (value) => value / norm);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.url !== "/embed") return response.writeHead(404).end("{}");
      const { texts } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { texts: string[] };
      response.end(JSON.stringify({ embeddings: texts.map(embed), model: "bench", dimensions: DIMENSION }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/embed`,
    embed,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function directionOf(word: string): Float32Array {
  let seed = 7;
  for (const char of word) seed = (Math.imul(seed, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  const random = seededRandom(seed);
  return Float32Array.from({ length: DIMENSION }, () => random() - 0.5);
}
