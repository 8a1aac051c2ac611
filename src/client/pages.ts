import type { OperationId, ResponseOf } from '#contract/operations/calls.ts';
import type { Call, InputOf } from './call.ts';
import type { CallOptions, Connection, Input } from './connection.ts';

/** IDs of the operations that return pages: those that take a `cursor` or the number of a page. */
export type Paged = {
  [I in OperationId]: Extract<keyof InputOf<I>, 'cursor' | 'page'> extends never ? never : I;
}[OperationId];

type ItemOf<I extends OperationId> =
  Extract<ResponseOf<I>, { readonly items: unknown }> extends { readonly items: readonly (infer Item)[] }
    ? Item
    : never;

interface Page {
  readonly next_cursor?: string | null;
  readonly page?: number;
  readonly pages?: number;
}

/**
 * Pages of a list, from the one of the input to the last. A page may have fewer items than `limit` while more follow.
 *
 * @throws TouchstoneError as the operation does
 */
export async function* pages<I extends Paged>(
  connection: Connection,
  list: Call<I>,
  input?: InputOf<I>,
  options?: CallOptions,
): AsyncGenerator<ResponseOf<I>, void, undefined> {
  const read = list as unknown as (...args: [Connection, Input, CallOptions?]) => Promise<Page>;
  for (let position: Input | undefined = {}; position; ) {
    const page: Page = await read(connection, { ...(input as Input), ...position }, options);
    yield page as ResponseOf<I>;
    const { next_cursor, page: number = 0, pages: last = 0 } = page;
    position = next_cursor ? { cursor: next_cursor } : number < last ? { page: number + 1 } : undefined;
  }
}

/** Items of all pages of a list: `for await (const job of items(connection, listBacktests, { status: 'completed' }))`. */
export async function* items<I extends Paged>(
  ...args: Parameters<typeof pages<I>>
): AsyncGenerator<ItemOf<I>, void, undefined> {
  for await (const page of pages(...args)) {
    yield* (page as { readonly items: readonly ItemOf<I>[] }).items;
  }
}
