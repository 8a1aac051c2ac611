/** Part of every result's provenance. Raised whenever the same inputs may give another number. */
export const ENGINE_VERSION = '1.4.0';
