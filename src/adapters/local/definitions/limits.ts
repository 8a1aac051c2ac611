/** Descriptor of a definition process to which it writes its replies, a line of JSON each. */
export const REPLY_FD = 4;
/** Longest reply, characters: a definition is data of a few kilobytes. */
export const MAX_REPLY = 256 * 1024;
/** Longest text of an error, characters. */
export const MAX_ERROR = 1_000;
