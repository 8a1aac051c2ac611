import { Ban } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { shortSymbol } from '../../ui/format.ts';

type Collection = ResponseOf<'getCollection'>;

export const isUnfinished = ({ status }: Pick<Collection, 'status'>) =>
  status === 'pending' || status === 'running';

/** `BTC/USDT, ETH/USDT +3`. */
export function symbolsText(symbols: readonly string[]): string {
  const named = symbols.slice(0, 2).map(shortSymbol);
  return `${named.join(', ')}${symbols.length > 2 ? ` +${symbols.length - 2}` : ''}`;
}

/** Cancels a collection. What it has stored stays, so there is nothing to confirm. */
export function CancelCollection({ collection }: { readonly collection: Collection }) {
  const cancel = useAction('cancelCollection', ['listCollections', 'getCollection']);
  return (
    <>
      <ActButton
        operation="cancelCollection"
        kind="small danger"
        isBusy={cancel.isPending}
        label={`Cancel the collection of ${symbolsText(collection.symbols)}`}
        onClick={(event) => {
          // The row under the button is selected by a click.
          event.stopPropagation();
          cancel.mutate({ params: { collection_id: collection.collection_id } });
        }}
      >
        <Ban aria-hidden="true" /> Cancel
      </ActButton>
      {cancel.error && (
        <span role="alert" className="down">
          {cancel.error.message}
        </span>
      )}
    </>
  );
}
