import type { RequestOf, ResponseOf } from '../../api/client.ts';

export type Page = ResponseOf<'listBacktests'>;
export type Row = Page['items'][number];
export type ListQuery = NonNullable<RequestOf<'listBacktests'>['query']>;
/** Order of the list that the service knows. */
export type Sort = NonNullable<ListQuery['sort']>;
