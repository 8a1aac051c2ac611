import { useEffect, useRef, useState } from 'react';

/** Milliseconds between two announcements: a screen reader must be able to finish one. */
const PAUSE = 5_000;

/** Says the newest text to assistive technology, at most once in 5 s. */
export function Announce({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('');
  const last = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (text === said) return;
    const timer = setTimeout(
      () => {
        last.current = performance.now();
        setSaid(text);
      },
      Math.max(0, last.current + PAUSE - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, said]);
  return (
    <p className="sr" aria-live="polite">
      {said}
    </p>
  );
}
