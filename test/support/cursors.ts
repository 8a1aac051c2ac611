import type { Operation } from '#contract/values/operation.ts';
import { SignedCursors } from '#runtime/signed-cursors.ts';

/** Key of the cursors of fixtures. */
export const cursorKey = async () => new Uint8Array(32).fill(7);

/** Cursor of a list as a fixture sends it to its caller. */
export async function signedCursor(cursor: string): Promise<string> {
  const { body } = await new SignedCursors(cursorKey).sign({ id: 'list' } as Operation, {
    status: 200,
    body: { next_cursor: cursor },
  });
  return (body as { next_cursor: string }).next_cursor;
}
