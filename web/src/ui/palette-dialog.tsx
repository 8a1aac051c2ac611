import './palette.css';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useCall } from '../api/queries.ts';
import { Announce } from './announce.tsx';
import { Dialog } from './dialog.tsx';
import { Keys } from './keys.tsx';
import { PAGES } from './navigation.ts';

/** Something to go to. */
interface Target {
  readonly href: string;
  readonly title: string;
  readonly detail: string;
}

/** Milliseconds without a key after which jobs are searched. */
const TYPING_PAUSE = 200;
/** Jobs of each kind in the list. */
const JOBS = 6;

const MORE_PAGES: readonly Target[] = [
  { href: '/backtests/new', title: 'New backtest', detail: 'Page' },
  { href: '/hyperopt/new', title: 'New hyperopt search', detail: 'Page' },
];
const PAGE_TARGETS: readonly Target[] = [
  ...PAGES.map(({ to, name }) => ({ href: to, title: name, detail: 'Page' })),
  ...MORE_PAGES,
];

/** Paths of things by the beginning of their id. */
const BY_ID: Readonly<Record<string, (id: string) => string>> = {
  bt: (id) => `/backtests/${id}`,
  ho: (id) => `/hyperopt/${id}`,
  ch: (id) => `/challenges/${id}`,
  co: (id) => `/data?collection=${id}`,
};

/** What carries a pasted id. */
function ofId(text: string): readonly Target[] {
  const [, kind] = /^(bt|ho|ch|co)-\w+$/.exec(text) ?? [];
  return kind ? [{ href: BY_ID[kind]!(text), title: text, detail: 'Open this id' }] : [];
}

function usePaused(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}

function useTargets(typed: string) {
  const text = typed.trim();
  const q = usePaused(text) || undefined;
  const strategies = useCall('listStrategies', {});
  const query = { q, limit: JOBS };
  const backtests = useCall('listBacktests', { query }, { keepPrevious: true });
  const searches = useCall('listHyperopts', { query }, { keepPrevious: true });
  const isNamed = ({ title }: Target) => title.toLowerCase().includes(text.toLowerCase());
  // Until the search for this text has ended, Enter must not lead to a job of the search before.
  const isOld = q !== (text || undefined) || backtests.isPlaceholderData || searches.isPlaceholderData;
  const strategyTargets = (strategies.data?.items ?? []).map(({ strategy }) => ({
    href: `/strategies/${encodeURIComponent(strategy)}`,
    title: strategy,
    detail: 'Strategy',
  }));
  const jobTargets = [
    ...(backtests.data?.items ?? []).map((job) => ({ path: 'backtests', kind: 'Backtest', job })),
    ...(searches.data?.items ?? []).map((job) => ({ path: 'hyperopt', kind: 'Hyperopt', job })),
  ].map(({ path, kind, job: { job_id, strategy, experiment_name, status, created_at } }) => ({
    href: `/${path}/${job_id}`,
    title: experiment_name ? `${strategy}, ${experiment_name}` : strategy,
    detail: `${kind}, ${status}, ${created_at.slice(0, 16).replace('T', ' ')} UTC`,
  }));
  return {
    targets: [
      ...ofId(text),
      ...[...PAGE_TARGETS, ...strategyTargets].filter(isNamed),
      ...(isOld ? jobTargets.filter(isNamed) : jobTargets),
    ],
    error: backtests.error ?? searches.error ?? strategies.error,
  };
}

/**
 * Goes to a page, a strategy or a job by a part of its name, or to anything by its id.
 * Long because it is one field with its list: keys, groups and results.
 */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const [selected, setSelected] = useState(0);
  const navigate = useNavigate();
  const { targets, error } = useTargets(typed);
  const at = Math.min(selected, targets.length - 1);
  const input = useRef<HTMLInputElement>(null);
  // After the dialog has opened, which focuses its first button.
  useEffect(() => input.current?.focus(), []);
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);
  const go = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    void navigate({ href: target.href });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextAt(event.key, at, targets.length);
    if (event.key === 'Enter') go(targets[at]);
    else if (next !== undefined) setSelected(next);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div className="palette">
        <input
          ref={input}
          type="search"
          role="combobox"
          aria-label="Page, strategy, job or id"
          placeholder="Page, strategy, job or id"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={targets.length > 0 ? optionId(at) : undefined}
          autoComplete="off"
          maxLength={200}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
        {error && (
          <p className="notice" data-tone="warn">
            {error.message}
          </p>
        )}
        <div id={id} role="listbox" aria-label="Places" className="palette-list">
          {targets.map(({ href, title, detail }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
            <div
              key={href}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onClick={() => go(targets[index])}
            >
              <span>{title}</span>
              <span className="faint">{detail}</span>
            </div>
          ))}
        </div>
        <Announce text={targets.length === 0 ? 'Nothing found' : `${targets.length} places`} />
        <p className="muted palette-foot">
          {targets.length === 0 ? (
            'Nothing found: try another part of the name, or a whole id.'
          ) : (
            <>
              <span>
                <Keys names={['Up', 'Down']} /> select
              </span>
              <span>
                <Keys names={['Enter']} /> opens
              </span>
              <span>
                <Keys names={['?']} /> lists all shortcuts
              </span>
            </>
          )}
        </p>
      </div>
    </Dialog>
  );
}

function nextAt(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % count;
  return key === 'ArrowUp' ? (at + count - 1) % count : undefined;
}
