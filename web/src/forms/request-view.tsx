import OPERATIONS_BY_ID from 'virtual:operations';
import { useState } from 'react';
import { type OperationId, urlOf } from '../api/client.ts';
import { useMe } from '../auth/me.ts';
import { CopyButton } from '../ui/parts.tsx';
import { curlOf } from './curl.ts';

const FORMS = [
  ['json', 'JSON'],
  ['curl', 'curl'],
] as const;

/** The request that a form sends, as JSON and as a command. */
export function RequestView(props: {
  readonly operation: OperationId;
  readonly params?: object;
  readonly body: object;
}) {
  const [form, setForm] = useState<(typeof FORMS)[number][0]>('json');
  const { operation, params, body } = props;
  const needsToken = useMe()?.enforced ?? false;
  const url = location.origin + urlOf(operation, { params });
  const text =
    form === 'json'
      ? JSON.stringify(body, null, 2)
      : curlOf({ method: OPERATIONS_BY_ID[operation][1], url, body, needsToken });
  return (
    <div className="stack">
      <div className="row">
        {FORMS.map(([value, label]) => (
          <button
            key={value}
            type="button"
            className="btn small"
            aria-pressed={form === value}
            onClick={() => setForm(value)}
          >
            {label}
          </button>
        ))}
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="request scroll" tabIndex={0} aria-label="Text of the request">
        <pre>{text}</pre>
      </section>
    </div>
  );
}
