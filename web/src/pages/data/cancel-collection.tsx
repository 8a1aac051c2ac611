import { Ban } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { useAction } from '../../api/queries.ts';
import { useResearchButton } from './research.ts';

type Collection = ResponseOf<'getCollection'>;

export const isUnfinished = ({ status }: Pick<Collection, 'status'>) =>
  status === 'pending' || status === 'running';

/** `BTC/USDT, ETH/USDT +3`. */
export function symbolsText(symbols: readonly string[]): string {
  const named = symbols.slice(0, 2).map((symbol) => symbol.split(':')[0]);
  return `${named.join(', ')}${symbols.length > 2 ? ` +${symbols.length - 2}` : ''}`;
}

/** Cancels a collection. What it has stored stays, so there is nothing to confirm. */
export function CancelCollection({ collection }: { readonly collection: Collection }) {
  const research = useResearchButton();
  const cancel = useAction('cancelCollection', ['listCollections', 'getCollection']);
  return (
    <>
      <button
        type="button"
        className="btn small danger"
        {...research}
        disabled={research.disabled || cancel.isPending}
        aria-label={`Cancel the collection of ${symbolsText(collection.symbols)}`}
        onClick={(event) => {
          event.stopPropagation();
          cancel.mutate({ params: { collection_id: collection.collection_id } });
        }}
      >
        <Ban aria-hidden="true" /> Cancel
      </button>
      {cancel.error && (
        <span role="alert" className="down">
          {cancel.error.message}
        </span>
      )}
    </>
  );
}
