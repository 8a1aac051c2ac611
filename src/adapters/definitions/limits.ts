/** Descriptor to which a definition process writes its replies, one line of JSON each. */
export const REPLY_FD = 4;
/** Maximum length of a reply, characters; a definition takes a few kilobytes. */
export const MAX_REPLY = 256 * 1024;
/** Maximum length of an error message, characters. */
export const MAX_ERROR = 1_000;
