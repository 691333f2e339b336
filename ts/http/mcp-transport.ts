// MCP over streamable HTTP, stateless: each request gets a protocol server of its own on the one service.

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createMcpServer, type McpServerOptions } from "../mcp/server.js";

export async function handleMcp(
  request: Request,
  options: McpServerOptions & { readonly maxBodyBytes: number },
): Promise<Response> {
  const { server } = createMcpServer(options);
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: options.maxBodyBytes,
  });
  await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
  try {
    return await transport.handleRequest(request);
  } finally {
    // The answer is complete JSON by now; nothing streams on.
    server.close().catch(() => {});
  }
}
