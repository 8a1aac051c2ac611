import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { Dialog } from './dialog.tsx';
import { PAGES } from './navigation.ts';

const Palette = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).Palette }));

const isMac = navigator.platform.startsWith('Mac');
const COMMAND_KEY = isMac ? '⌘' : 'Ctrl';

/** Milliseconds within which the second key of a pair counts. */
const PAIR = 1_500;

/** Keys and what they do, for the list of shortcuts. */
const SHORTCUTS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [[COMMAND_KEY, 'K'], 'Go to a page, a job or a strategy'],
  [['?'], 'List the shortcuts'],
  ...PAGES.map(({ key, name }) => [['G', key.toUpperCase()], name] as const),
  [['T'], 'In a chart: its numbers as a table'],
  [['←', '→'], 'In a chart: move; in tabs: select'],
  [['N', 'P'], 'In a report: next and previous trade'],
  [['Esc'], 'Close a dialog, show all of a chart'],
];

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
}

/** Button and keys of the command palette, and the keys that work on every page. */
export function Shortcuts() {
  const [opened, setOpened] = useState<'palette' | 'list'>();
  const navigate = useNavigate();
  useEffect(() => {
    let pairAt = Number.NEGATIVE_INFINITY;
    const onPlainKey = ({ key: pressed }: KeyboardEvent) => {
      const isSecond = performance.now() - pairAt < PAIR;
      pairAt = pressed === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
      if (pressed === '?') setOpened('list');
      const page = isSecond && PAGES.find(({ key }) => key === pressed);
      if (page) void navigate({ to: page.to });
    };
    const onKey = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        // Over another dialog it would be lost below.
        if (!document.querySelector('dialog[open]')) setOpened('palette');
      } else if (!isCommand && !event.altKey && !isTyping(event)) onPlainKey(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate]);
  const close = () => setOpened(undefined);
  return (
    <>
      <button
        type="button"
        className="btn plain go-to"
        title="Go to a page, a job or a strategy"
        onClick={() => setOpened('palette')}
      >
        <Search aria-hidden="true" /> <span className="go-to-name">Go to</span>
        <kbd className="go-to-name">{COMMAND_KEY} K</kbd>
      </button>
      {/* Not inside the bar: the head of a dialog would be a second banner. */}
      {opened &&
        createPortal(
          opened === 'palette' ? (
            <Suspense>
              <Palette onClose={close} />
            </Suspense>
          ) : (
            <ShortcutList onClose={close} />
          ),
          document.getElementById('page')!,
        )}
    </>
  );
}

function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="defs pad">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={does} className="shortcut">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
