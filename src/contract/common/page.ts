import * as z from 'zod';

/** Position of the page after this one. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Opaque; send it as `cursor` with the same filters. null ends the iteration' });

/** The list envelope: `items`, and `next_cursor` until the end. */
export function paginated<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    next_cursor: nextCursor,
  });
}
