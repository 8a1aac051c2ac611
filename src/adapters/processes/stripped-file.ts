/*
 * Folder, name and last line of a strategy source without types, for the processes that write and load it. This module imports
 * nothing, because it is loaded before every program of a sandbox.
 */

/** Folder of strategy sources without types. It is outside the compile cache, which tasks can write. */
export const strippedSources = (compiled: string): string => `${compiled}-strategies`;

/** @param digest sha-256 of the source, hex */
export const strippedFile = (digest: string): string => `${digest}.js`;

/** Last line of a complete file. It begins with a line break, because the source may end with a comment. */
export const strippedEnd = (digest: string): string => `\n// Types removed from ${digest}\n`;
