// What a test file of this suite needs, in one import.

import { conformFor } from "./conform.js";

export const conform = conformFor("js");
export { skip } from "./conform.js";
export * from "./account.js";
export * from "./answers.js";
export * from "./clients.js";
export { freshTableName } from "./names.js";
export * from "./signatures.js";
