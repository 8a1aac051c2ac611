import { X } from 'lucide-react';
import { useCall } from '../../api/queries.ts';
import { decimal } from '../../ui/format.ts';
import { CopyButton, Progress, Status, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { CancelCollection, isUnfinished } from './cancel-collection.tsx';

/** The selected collection, followed while it runs. */
export function CollectionDetail({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useCall('getCollection', { params: { collection_id: id } }, { isMoving: isUnfinished });
  return (
    <section className="pad stack data-detail" aria-label="Selected collection">
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {(collection) => (
          <>
            <div className="row">
              <span role="status">
                <Status status={collection.status} />
              </span>
              <code>{id}</code>
              <CopyButton text={id} label="Copy id" />
              {isUnfinished(collection) && <CancelCollection collection={collection} />}
            </div>
            <Progress value={collection.progress} label="Progress of the selected collection" />
            <p>
              {decimal(collection.candles, 0)} new candles of {collection.exchange}, {collection.timeframe},{' '}
              <Time at={collection.start} /> to <Time at={collection.end} />: {collection.symbols.join(', ')}
            </p>
            {collection.error && (
              <p className="notice" data-tone={collection.status === 'failed' ? 'down' : 'warn'}>
                {collection.error}
              </p>
            )}
          </>
        )}
      </Loaded>
      <button type="button" className="btn small icon" aria-label="Close the collection" onClick={onClose}>
        <X aria-hidden="true" />
      </button>
    </section>
  );
}
