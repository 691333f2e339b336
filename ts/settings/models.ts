// Settings of the models that are pulled.

import { join } from "node:path";
import { MemoryError } from "../errors.js";
import type { SettingReader } from "./reader.js";

export interface ModelSettings {
  /** `CPERSONA_MODEL_DIR`: where pulled models are; default `models` in the user's data directory */
  readonly folder: string;
  /** `CPERSONA_MODEL_MIRROR`: a server with the paths of the public hub, default the hub itself */
  readonly mirror: string;
}

const HUB = "https://huggingface.co";

/** Throws `invalid_setting` for a mirror that is no address. */
export function readModels(read: SettingReader, dataFolder: string): ModelSettings {
  const mirror = (read.text("CPERSONA_MODEL_MIRROR") ?? HUB).trim().replace(/\/+$/, "");
  if (!/^https?:/.test(mirror) || !URL.canParse(mirror)) {
    throw new MemoryError("invalid_setting", "CPERSONA_MODEL_MIRROR must be an http or https URL", {
      field: "CPERSONA_MODEL_MIRROR",
    });
  }
  return { folder: modelFolder(read, dataFolder), mirror };
}

export function modelFolder(read: SettingReader, dataFolder: string): string {
  return read.path("CPERSONA_MODEL_DIR") ?? join(dataFolder, "models");
}
