import { X } from 'lucide-react';
import { useEffect } from 'react';
import { NO_VALUE } from '../../ui/format.ts';
import { CopyButton, Panel, Time } from '../../ui/parts.tsx';
import type { AuditEntry } from './search.ts';

const PANEL = 'entry';

/** One call with its request, and where it came from. Long because it is the list of the values of an entry. */
export function EntryPanel(props: { readonly entry: AuditEntry; readonly onClose: () => void }) {
  const { entry, onClose } = props;
  // The list above it is longer than the window.
  useEffect(() => {
    document.querySelector(`[data-panel="${PANEL}"]`)?.scrollIntoView({ block: 'nearest' });
  }, []);
  const request = entry.request && JSON.stringify(entry.request, null, 2);
  return (
    <Panel
      title={entry.operation}
      id={PANEL}
      actions={
        <>
          <CopyButton text={JSON.stringify(entry, null, 2)} label="Copy as JSON" />
          <button type="button" className="btn small icon" aria-label="Close the call" onClick={onClose}>
            <X aria-hidden="true" />
          </button>
        </>
      }
    >
      <div className="cols-2 pad">
        <dl className="defs">
          <dt>Call</dt>
          <dd>
            <code>
              {entry.method} {entry.path}
            </code>
          </dd>
          <dt>Began</dt>
          <dd>
            <Time at={entry.at} hasSeconds />
          </dd>
          <dt>Ended</dt>
          <dd>{entry.ended_at === null ? 'not known' : <Time at={entry.ended_at} hasSeconds />}</dd>
          <dt>Response</dt>
          <dd>
            {entry.status ?? NO_VALUE} {entry.code}
          </dd>
          <dt>Who</dt>
          <dd>
            {entry.principal}
            {entry.roles.length > 0 && `, ${entry.roles.join(', ')}`}
          </dd>
          <dt>From</dt>
          <dd>
            {entry.source_ip ?? NO_VALUE}{' '}
            {entry.user_agent && <span className="muted">{entry.user_agent}</span>}
          </dd>
          <dt>Correlation id</dt>
          <dd>
            <code>{entry.correlation_id}</code>
          </dd>
        </dl>
        <div className="stack">
          <h3>Request</h3>
          {request ? (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
            <section className="audit-request" tabIndex={0} aria-label="Request">
              <pre>{request}</pre>
            </section>
          ) : (
            <p className="muted">Without query and body.</p>
          )}
        </div>
      </div>
    </Panel>
  );
}
