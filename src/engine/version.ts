/**
 * Part of every result's provenance. A minor version changes the numbers of the same inputs; a patch version changes only texts
 * of the report.
 */
export const ENGINE_VERSION = '2.0.0';
