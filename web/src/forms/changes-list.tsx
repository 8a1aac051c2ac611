import { ArrowRight } from 'lucide-react';
import { changesBetween } from './changes.ts';

function shown(value: unknown): string {
  return value === undefined ? 'default' : typeof value === 'string' ? value : JSON.stringify(value);
}

/** Differences of a request to the one that it was filled from. */
export function ChangesList(props: { readonly from: object; readonly to: object }) {
  const changes = changesBetween(props.from, props.to);
  if (changes.length === 0) return <p className="muted">Nothing is changed.</p>;
  return (
    <dl className="defs">
      {changes.map(({ path, from, to }) => (
        <div key={path} className="def">
          <dt>
            <code>{path}</code>
          </dt>
          <dd>
            <del>{shown(from)}</del> <ArrowRight role="img" aria-label="to" /> <ins>{shown(to)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
