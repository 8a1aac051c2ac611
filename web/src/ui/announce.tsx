import { useEffect, useRef, useState } from 'react';

/** Milliseconds between two announcements: a screen reader must be able to finish one. */
const PAUSE = 5_000;

/** Says the newest text to assistive technology, at most once in 5 s. */
export function Announce({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('');
  const last = useRef(Number.NEGATIVE_INFINITY);
  // When the text is in the page: a page with much to render has it later than it was set, and the next one must not come sooner.
  useEffect(() => {
    if (said !== '') last.current = performance.now();
  }, [said]);
  useEffect(() => {
    if (text === said) return;
    const wait = Math.max(0, last.current + PAUSE - performance.now());
    const timer = setTimeout(() => setSaid(text), wait);
    return () => clearTimeout(timer);
  }, [text, said]);
  return (
    <p className="sr" aria-live="polite">
      {said}
    </p>
  );
}
