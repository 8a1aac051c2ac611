/** SHA-256 of a string (UTF-8) or of bytes, hex. Injected: the engine has no hash of its own. */
export type Digest = (data: string | Uint8Array) => string;
