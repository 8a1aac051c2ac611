/** Filters and order of a list; a cursor is valid only for the list that it was made for. */
export type Scope = Readonly<Record<string, string | null>>;

/** Opaque positions in lists; `decode` throws VAL006 for one that is broken or was made with another scope. */
export interface Cursors {
  encode(position: readonly string[], scope: Scope): string;
  decode(cursor: string, scope: Scope, length: number): string[];
}
