import type { ResourceKind } from '#contract/values/sharing.ts';
import type { Ownership } from '#domain/access/access.ts';
import { type GivenSharing, getSharing, shareResource } from '#domain/access/sharing.ts';
import { callerOf } from '../authenticate.ts';
import type { HandlerRequest } from '../handler.ts';

type Call<I extends string> = Pick<HandlerRequest<unknown>, 'principal'> & {
  readonly params: Readonly<Record<I, string>>;
};

/** Handlers of the `sharingOperations` of a kind; `field` is the path variable of its id. */
export function sharingHandlers<I extends string>(ownership: Ownership, kind: ResourceKind, field: I) {
  const named = ({ params }: Call<I>) => ({ kind, field, id: params[field] });
  return {
    read: async (request: Call<I>) => ({
      status: 200 as const,
      body: await getSharing(ownership, callerOf(request.principal), named(request)),
    }),
    share: async (request: Call<I> & { readonly body: GivenSharing }) => ({
      status: 200 as const,
      body: await shareResource(ownership, callerOf(request.principal), named(request), request.body),
    }),
  };
}
