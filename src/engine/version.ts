/** Part of every result's provenance. Raised when the same inputs may give other numbers. */
export const ENGINE_VERSION = '1.4.0';
