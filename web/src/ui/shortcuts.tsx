import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { COMMAND_KEY, PAGES } from './navigation.ts';

// Opened by few.
const Palette = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).Palette }));
const ShortcutList = lazy(async () => ({ default: (await import('./shortcuts-dialog.tsx')).ShortcutList }));

/** Milliseconds within which the second key of a pair counts. */
const PAIR = 1_500;

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
        <Search aria-hidden="true" /> <span className="word">Go to</span>
        <kbd className="word">{COMMAND_KEY} K</kbd>
      </button>
      {/* Not inside the bar: the head of a dialog would be a second banner. */}
      {opened &&
        createPortal(
          <Suspense>
            {opened === 'palette' ? <Palette onClose={close} /> : <ShortcutList onClose={close} />}
          </Suspense>,
          document.getElementById('page')!,
        )}
    </>
  );
}
