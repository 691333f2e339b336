// MCP over streamable HTTP, stateless: each request gets a protocol server of its own on the one service.

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { JsonError, MAX_MESSAGE_DEPTH, parseJsonBytes } from "../domain/json.js";
import { createMcpServer, type McpServerOptions } from "../mcp/server.js";

export async function handleMcp(
  request: Request,
  options: McpServerOptions & { readonly maxBodyBytes: number },
): Promise<Response> {
  const parsedBody = await readMessage(request);
  if (parsedBody instanceof JsonError) return refusal(parsedBody);
  const { server } = createMcpServer(options);
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: options.maxBodyBytes,
  });
  await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    // The answer is complete JSON by now; nothing streams on.
    server.close().catch(() => {});
  }
}

/** Read here, not by the SDK, which bounds no nesting. */
async function readMessage(request: Request): Promise<unknown> {
  try {
    return parseJsonBytes(new Uint8Array(await request.arrayBuffer()), MAX_MESSAGE_DEPTH);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}

function refusal({ fault }: JsonError): Response {
  const error = { code: -32_700, message: `the message ${fault}` };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 });
}
