// Names that no other case, and no other run, uses.

import { randomUUID } from "node:crypto";

/** A fresh legal table name that begins with `prefix`. */
export function freshTableName(prefix = "js") {
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}
