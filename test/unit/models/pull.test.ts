import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readModelFolder } from "../../../ts/embedding/onnx/model-folder.js";
import { CATALOGUE } from "../../../ts/models/catalogue.js";
import { type PullParts, type PullRequest, pullModel } from "../../../ts/models/pull.js";
import { breakOff, type FileServer, sha256, startFileServer } from "../../support/file-server.js";
import { TINY_CONFIG, tinyModel, tinyTokenizer } from "../../support/onnx-model.js";
import { tempFolder } from "../../support/temp.js";

const MODEL = tinyModel();
const FILES: Record<string, Buffer> = {
  "config.json": Buffer.from(JSON.stringify(TINY_CONFIG)),
  "tokenizer.json": Buffer.from(JSON.stringify(tinyTokenizer())),
  "model.onnx": MODEL,
};
const QUICK = { silenceMs: 2_000, attempts: 1, pauseMs: 1 };

let server: FileServer;
let folder: string;
let locked: Set<string>;

beforeEach(() => {
  locked = new Set();
});

function parts(more: Partial<PullParts> = {}): PullParts {
  return {
    folder,
    mirror: server.url,
    lock: (path) => {
      if (locked.has(path)) return null;
      locked.add(path);
      return { release: () => locked.delete(path) };
    },
    progress: () => {},
    times: QUICK,
    ...more,
  };
}

const own = (more: Partial<PullRequest> = {}): PullRequest => ({
  name: "own",
  from: `${server.url}/m`,
  again: false,
  ...more,
});

/** A server with a model at `/m`, with a manifest unless it is left out. */
async function serve(manifest: object | string | null = manifestOf()): Promise<void> {
  folder = join(tempFolder(), "models");
  server = await startFileServer(
    Object.fromEntries(Object.entries(FILES).map(([path, content]) => [`/m/${path}`, content])),
  );
  if (manifest === null) return;
  const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  server.files.set("/m/manifest.json", Buffer.from(text));
}

function manifestOf(change: Record<string, object> = {}) {
  return {
    files: Object.entries(FILES).map(([path, content]) => {
      return { path, bytes: content.length, sha256: sha256(content), ...change[path] };
    }),
  };
}

function pulled(name = "own"): Record<string, Buffer> {
  const target = join(folder, name);
  const files = readdirSync(target).filter((name) => statSync(join(target, name)).isFile());
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(target, file))]));
}

/** Breaks the model off when so many bytes of it are on the disk. */
function breakModel(
  after: number,
  response: Parameters<typeof breakOff>[2],
  { name = "own", content = MODEL } = {},
): true {
  const part = join(folder, `.${name}.part`, "model.onnx.part");
  return breakOff(content, after, response, () => existsSync(part) && statSync(part).size === after);
}

const asked = (path: string) => server.requests.filter((request) => request.path === path);
const failed = (message: RegExp) => ({
  code: "download_failed",
  message: expect.stringMatching(message) as string,
});

describe("pulling from an address", () => {
  it("fetches what the manifest lists, shows progress, and leaves nothing else behind", async () => {
    await serve();
    const shown: [string, number, number][] = [];
    const progress = (...step: [string, number, number]) => shown.push(step);
    expect(await pullModel(own(), parts({ progress }))).toBe("pulled");
    expect(pulled()).toEqual(FILES);
    expect(readdirSync(folder)).toEqual(["own"]);
    expect(shown.at(-1)).toEqual(["model.onnx", MODEL.length, MODEL.length]);
    expect(locked.size).toBe(0);
  });

  it.skipIf(process.platform === "win32")(
    "makes files for their owner alone, whatever the umask",
    async () => {
      const before = process.umask(0);
      onTestFinished(() => void process.umask(before));
      await serve();
      await pullModel(own(), parts());
      const modes = readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
        (name) => statSync(join(folder, name)).mode & 0o077,
      );
      expect(modes.length).toBeGreaterThan(3);
      expect(new Set(modes)).toEqual(new Set([0]));
    },
  );

  it("fetches the files of a plain folder without a manifest", async () => {
    await serve(null);
    expect(await pullModel(own({ from: `${server.url}/m/` }), parts())).toBe("pulled");
    expect(pulled()).toEqual(FILES);
    server.files.set("/m/tokenizer_config.json", Buffer.from("{}"));
    expect(await pullModel(own({ again: true }), parts())).toBe("pulled");
    expect(Object.keys(pulled())).toContain("tokenizer_config.json");
  });

  it("fetches nothing twice, unless told to", async () => {
    await serve();
    await pullModel(own(), parts());
    const before = server.requests.length;
    expect(await pullModel(own(), parts())).toBe("present");
    expect(server.requests).toHaveLength(before);
    writeFileSync(join(folder, "own", "model.onnx"), "changed");
    expect(await pullModel(own({ again: true }), parts())).toBe("pulled");
    expect(pulled()).toEqual(FILES);
  });

  it("goes on where the connection broke off, in the same pull or in the next", async () => {
    await serve();
    const names = ["own", "second"];
    server.intercept = ({ url, headers }, response) => {
      if (url !== "/m/model.onnx" || headers.range !== undefined) return false;
      const name = names.shift();
      return name !== undefined && breakModel(100, response, { name });
    };
    await expect(pullModel(own(), parts())).rejects.toMatchObject(
      failed(/^model\.onnx: the connection (broke off after 100 of|failed)/),
    );
    expect(existsSync(join(folder, "own"))).toBe(false);
    expect(locked.size).toBe(0);
    await pullModel(own(), parts());
    expect(asked("/m/model.onnx").map(({ range }) => range)).toEqual([undefined, "bytes=100-"]);
    expect(asked("/m/config.json")).toHaveLength(1);
    expect(pulled()).toEqual(FILES);

    const times = { ...QUICK, attempts: 3 };
    await pullModel(own({ name: "second" }), parts({ times }));
    expect(asked("/m/model.onnx").map(({ range }) => range)).toEqual([
      ...[undefined, "bytes=100-"],
      ...[undefined, "bytes=100-"],
    ]);
    expect(pulled("second")).toEqual(FILES);
  });

  it("starts anew where the server cannot go on, or nothing tells that it is the same file", async () => {
    await serve();
    const half = join(folder, ".own.part");
    server.intercept = ({ url }, response) => url === "/m/model.onnx" && breakModel(50, response);
    await pullModel(own(), parts()).catch(() => {});
    expect(readFileSync(join(half, "model.onnx.part"))).toHaveLength(50);
    // Answers the whole file to a request for its end.
    server.intercept = ({ url }, response) => {
      if (url !== "/m/model.onnx") return false;
      response.writeHead(200, { "content-length": MODEL.length }).end(MODEL);
      return true;
    };
    await pullModel(own(), parts());
    expect(pulled()).toEqual(FILES);

    await serve(null);
    server.intercept = ({ url, headers }, response) =>
      url === "/m/model.onnx" && headers.range === undefined && asked("/m/model.onnx").length === 1
        ? breakModel(50, response)
        : false;
    await pullModel(own(), parts({ times: { ...QUICK, attempts: 3 } }));
    expect(asked("/m/model.onnx").map(({ range }) => range)).toEqual([undefined, "bytes=50-", undefined]);
    expect(pulled()).toEqual(FILES);
  });

  it("removes what came with a wrong hash, and can be repeated", async () => {
    await serve();
    server.files.set("/m/model.onnx", Buffer.alloc(MODEL.length, 7));
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/^model\.onnx: .*another hash/));
    expect(readdirSync(join(folder, ".own.part"))).not.toContain("model.onnx.part");
    expect(existsSync(join(folder, "own"))).toBe(false);
    server.files.set("/m/model.onnx", MODEL);
    expect(await pullModel(own(), parts())).toBe("pulled");
  });

  it("removes the beginning of another file, found out by its hash", async () => {
    await serve();
    server.files.set("/m/model.onnx", Buffer.concat([Buffer.alloc(100, 7), MODEL.subarray(100)]));
    server.intercept = ({ url }, response) =>
      url === "/m/model.onnx" && breakModel(100, response, { content: Buffer.alloc(MODEL.length, 7) });
    await pullModel(own(), parts()).catch(() => {});
    server.intercept = () => false;
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/another hash/));
    server.files.set("/m/model.onnx", MODEL);
    await pullModel(own(), parts());
    expect(pulled()).toEqual(FILES);
  });

  it("refuses a file that is longer or shorter than it should be", async () => {
    await serve();
    server.files.set("/m/model.onnx", Buffer.concat([MODEL, MODEL]));
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/longer than it should be/));
    server.files.set("/m/model.onnx", MODEL.subarray(0, 60));
    await expect(pullModel(own(), parts())).rejects.toMatchObject(
      failed(/broke off after 60 of|instead of|another hash/),
    );
    expect(existsSync(join(folder, "own"))).toBe(false);
  });

  it("gives up on a server that goes silent, is down, or does not have the file", async () => {
    await serve();
    const times = { ...QUICK, silenceMs: 150 };
    server.intercept = ({ url }, response) => {
      if (url !== "/m/model.onnx") return false;
      response.writeHead(200, { "content-length": MODEL.length });
      response.write(MODEL.subarray(0, 10));
      return true;
    };
    await expect(pullModel(own(), parts({ times }))).rejects.toMatchObject(failed(/was silent for 0.15 s/));
    for (const [status, message] of [
      [500, /HTTP status 500/],
      [403, /not give this file to everyone/],
      [404, /does not have this file/],
    ] as const) {
      server.intercept = ({ url }, response) => {
        if (url !== "/m/model.onnx") return false;
        response.writeHead(status).end();
        return true;
      };
      await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(message));
    }
    const dead = own({ from: "http://127.0.0.1:9/m" });
    await expect(pullModel(dead, parts())).rejects.toMatchObject(failed(/^the connection failed/));
  });

  it("tries again after a failure that may pass, and only then", async () => {
    await serve();
    const times = { ...QUICK, attempts: 3 };
    const statuses = [503, 429, 200];
    server.intercept = ({ url }, response) => {
      if (url !== "/m/model.onnx") return false;
      const status = statuses.shift() ?? 404;
      if (status === 200) return false;
      response.writeHead(status).end();
      return true;
    };
    await pullModel(own(), parts({ times }));
    expect(pulled()).toEqual(FILES);
    await expect(pullModel(own({ name: "b" }), parts({ times }))).rejects.toMatchObject(failed(/404/));
    expect(asked("/m/model.onnx")).toHaveLength(4);
  });

  it("lets one process in at a time", async () => {
    await serve();
    const first = pullModel(own(), parts());
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/another process is pulling own/));
    await first;
    expect(await pullModel(own(), parts())).toBe("present");
  });

  it("keeps a model that was there when its successor cannot be fetched", async () => {
    await serve();
    await pullModel(own(), parts());
    server.files.delete("/m/model.onnx");
    await expect(pullModel(own({ again: true }), parts())).rejects.toMatchObject(failed(/404/));
    expect(pulled()).toEqual(FILES);
  });

  const foreign: [string, object | string, RegExp][] = [
    ["no JSON", "<html>", /is not JSON/],
    ["null", "null", /must have files/],
    ["no files", { files: [] }, /must have files, 1 to 32/],
    ["a path upwards", { files: [{ path: "../config.json" }] }, /does not stay/],
    ["an absolute path", { files: [{ path: "/etc/passwd" }] }, /does not stay/],
    ["a path with a backslash", { files: [{ path: "a\\b" }] }, /does not stay/],
    ["a hidden file", { files: [{ path: ".source" }] }, /does not stay/],
    ["a size below 0", { files: [{ path: "a", bytes: -1 }] }, /bytes/],
    ["a hash of another kind", { files: [{ path: "a", sha256: "abc" }] }, /64 hex/],
    ["too much", " ".repeat(70_000), /larger than 64 KiB/],
  ];
  it.each(foreign)("refuses a manifest with %s", async (_, manifest, message) => {
    await serve(manifest);
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(message));
    expect(existsSync(join(folder, "own"))).toBe(false);
  });

  it("refuses files that are no model", async () => {
    await serve(manifestOf({ "config.json": { bytes: 2, sha256: sha256("{}") } }));
    server.files.set("/m/config.json", Buffer.from("{}"));
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/no model: .*dims/));
    expect(existsSync(join(folder, ".own.part"))).toBe(false);
  });

  it.each(["", "..", "a/b", ".hidden", "x".repeat(65)])("refuses the name '%s'", async (name) => {
    await serve();
    await expect(pullModel(own({ name }), parts())).rejects.toMatchObject({ field: "name" });
  });

  it.each(["", "own", "file:///etc", "ftp://x/y"])("refuses the address '%s'", async (from) => {
    await serve();
    await expect(pullModel(own({ from }), parts())).rejects.toMatchObject({ field: "from" });
  });

  it("says in one line that its folder cannot be written", async () => {
    await serve();
    writeFileSync(join(folder, "..", "models"), "a file");
    await expect(pullModel(own(), parts())).rejects.toMatchObject(
      failed(/folder of models cannot be written/),
    );
  });

  it("says in one line that the manifest broke off", async () => {
    await serve();
    server.intercept = ({ url }, response) =>
      url === "/m/manifest.json" && breakOff(Buffer.from('{"files": []}'), 4, response, () => true);
    await expect(pullModel(own(), parts())).rejects.toMatchObject(failed(/^the connection failed/));
  });

  it("takes a password with a stray percent sign as it is", async () => {
    await serve();
    await pullModel(own({ from: `${server.url}/m`.replace("http://", "http://user:100%@") }), parts());
    const sent = asked("/m/model.onnx")[0]?.authorization?.replace("Basic ", "") ?? "";
    expect(Buffer.from(sent, "base64").toString()).toBe("user:100%");
  });

  it("drops what another plan left half done", async () => {
    await serve();
    mkdirSync(join(folder, ".own.part", "model.onnx.part"), { recursive: true });
    writeFileSync(join(folder, ".own.part", ".source"), "of another plan");
    expect(await pullModel(own(), parts())).toBe("pulled");
  });

  it("keeps a password with its host, and out of errors and files", async () => {
    await serve();
    const elsewhere = await startFileServer({ "/big": MODEL });
    server.intercept = ({ url }, response) => {
      if (url !== "/m/model.onnx") return false;
      response.writeHead(302, { location: `${elsewhere.url}/big` }).end();
      return true;
    };
    const from = `${server.url}/m`.replace("http://", "http://user:geheim@");
    await pullModel(own({ from }), parts());
    expect(asked("/m/model.onnx")[0]?.authorization).toMatch(/^Basic /);
    expect(elsewhere.requests[0]?.authorization).toBeUndefined();
    server.files.set("/m/manifest.json", Buffer.from(JSON.stringify(manifestOf())));
    elsewhere.files.delete("/big");
    const error = await pullModel(own({ from, again: true }), parts()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(failed(/404/));
    expect(`${(error as Error).stack}`).not.toMatch(/geheim|127\.0\.0\.1/);
    expect(readFileSync(join(folder, ".own.part", ".source"), "utf8")).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("pulling from the catalogue", () => {
  const NAME = "all-MiniLM-L6-v2";
  const BASE = "/Xenova/all-MiniLM-L6-v2/resolve/main";
  const git = (content: Buffer) =>
    createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");

  /** The hub: large files are sent elsewhere with their hash in a header, small ones carry git's. */
  async function hub({ modelHash = sha256(MODEL), tokenizerHash = "" } = {}): Promise<void> {
    folder = join(tempFolder(), "models");
    const tokenizer = FILES["tokenizer.json"] as Buffer;
    const store = await startFileServer({ "/cdn/model": MODEL });
    server = await startFileServer();
    server.intercept = ({ url }, response) => {
      const commit = { "x-repo-commit": "c" };
      if (url === `${BASE}/onnx/model_quantized.onnx`) {
        const linked = { "x-linked-size": MODEL.length, "x-linked-etag": `"${modelHash}"` };
        response.writeHead(302, { ...commit, ...linked, location: `${store.url}/cdn/model` }).end();
        return true;
      }
      if (url !== `${BASE}/tokenizer.json`) return false;
      response.writeHead(200, { ...commit, etag: `"${tokenizerHash || git(tokenizer)}"` }).end(tokenizer);
      return true;
    };
    server.files.set(`${BASE}/tokenizer_config.json`, Buffer.from("{}"));
  }

  const known: PullRequest = { name: NAME, from: null, again: false };

  it("takes size and hash from the hub, and writes what the hub does not say", async () => {
    await hub();
    expect(await pullModel(known, parts())).toBe("pulled");
    const files = pulled(NAME);
    expect(files["model.onnx"]).toEqual(MODEL);
    expect(JSON.parse(String(files["config.json"]))).toMatchObject({ dims: 384, max_tokens: 256 });
  });

  it("believes the model's own files more than the catalogue", async () => {
    await hub();
    const told = {
      "config.json": { hidden_size: 3, pad_token_id: 0, max_position_embeddings: 130, model_type: "roberta" },
      "1_Pooling/config.json": { pooling_mode_cls_token: true },
      "config_sentence_transformers.json": { prompts: { query: "ask: ", document: "" } },
    };
    for (const [name, content] of Object.entries(told))
      server.files.set(`${BASE}/${name}`, Buffer.from(JSON.stringify(content)));
    await pullModel(known, parts());
    expect(readModelFolder(join(folder, NAME))).toMatchObject({
      id: "sentence-transformers/all-MiniLM-L6-v2 int8",
      dimension: 3,
      maxTokens: 129,
      padId: 0,
      pooling: "cls",
      prefixes: { query: "ask: ", document: "" },
    });
    server.files.set(`${BASE}/1_Pooling/config.json`, Buffer.from('{"pooling_mode_lasttoken":true}'));
    await expect(pullModel({ ...known, again: true }, parts())).rejects.toMatchObject(
      failed(/1_Pooling.*lasttoken.*mean or cls/),
    );
  });

  it("refuses files that are not what the hub says", async () => {
    await hub({ modelHash: sha256("something else") });
    await expect(pullModel(known, parts())).rejects.toMatchObject(failed(/^model\.onnx: .*another hash/));
    await hub({ tokenizerHash: "0".repeat(40) });
    await expect(pullModel(known, parts())).rejects.toMatchObject(failed(/^tokenizer\.json: .*another hash/));
  });

  it("knows no other name", async () => {
    await hub();
    await expect(pullModel({ ...known, name: "gpt" }, parts())).rejects.toMatchObject({
      code: "invalid_argument",
      message: /multilingual-e5-small, all-MiniLM-L6-v2/,
    });
  });

  it("has descriptions that a model folder can have", () => {
    for (const { name, config } of CATALOGUE) {
      const target = join(tempFolder(), name);
      mkdirSync(target);
      for (const [file, content] of Object.entries(FILES)) writeFileSync(join(target, file), content);
      writeFileSync(join(target, "config.json"), JSON.stringify(config));
      expect(readModelFolder(target)).toMatchObject({ id: config["id"], dimension: config["dims"] });
    }
  });
});
