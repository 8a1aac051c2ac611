import { MODEL_ALIASES, MODEL_KINDS, type ModelKind } from '#contract/limits.ts';

const KINDS: ReadonlyMap<string, ModelKind> = new Map([
  ...MODEL_KINDS.map((kind) => [kind, kind] as const),
  ...Object.entries(MODEL_ALIASES).map(([alias, kind]) => [alias.toLowerCase(), kind] as const),
]);

/** The model kind of a canonical name or of an alias, in any case; undefined when the name is unknown. */
export function modelKindOf(name: string): ModelKind | undefined {
  return KINDS.get(name.toLowerCase());
}
