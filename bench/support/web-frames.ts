import type { Page } from 'playwright-core';

/** Frames while something was done to a page. */
export interface Frames {
  /** Milliseconds from one frame to the next, for each frame with an input or an event. */
  readonly intervals: readonly number[];
  /** Milliseconds of tasks beyond 50 ms each. */
  readonly blockedMs: number;
}

declare global {
  interface Window {
    frames_: {
      start(): void;
      stop(): Frames;
      /** Milliseconds from the start of the page to the first of each selector. */
      readonly seen: Record<string, number>;
      /** Time that tasks of the page blocked so far, ms. */
      blocked(): number;
    };
  }
}

/** Records the frames of a page. Runs in it before its own scripts. */
export function recordFrames(selectors: readonly string[]): void {
  const seen: Record<string, number> = {};
  let intervals: number[] = [];
  let last = 0;
  /** The interval before this one, if an input came in it. */
  let waiting: number | undefined;
  let hasInput = false;
  let blocked = 0;
  let isOn = false;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) blocked += Math.max(0, duration - 50);
  }).observe({ type: 'longtask', buffered: true });
  for (const type of ['mousemove', 'wheel', 'scroll', 'keydown', 'click', 'replay']) {
    const onInput = () => {
      hasInput = true;
    };
    window.addEventListener(type, onInput, { capture: true, passive: true });
  }
  const onFrame = (now: number) => {
    for (const selector of selectors) {
      if (!(selector in seen) && document.querySelector(selector)) seen[selector] = now;
    }
    const interval = now - last;
    // An input is worked on in the interval in which it comes, or it is drawn in the next: the longer one counts.
    if (isOn && waiting !== undefined) intervals.push(Math.max(waiting, interval));
    waiting = hasInput ? interval : undefined;
    hasInput = false;
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
  let before = 0;
  window.frames_ = {
    seen,
    blocked: () => blocked,
    start: () => {
      intervals = [];
      before = blocked;
      isOn = true;
    },
    stop: () => {
      isOn = false;
      return { intervals, blockedMs: blocked - before };
    },
  };
}

/** Frames of a page while `act` runs. */
export async function framesOf(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => window.frames_.start());
  await act();
  return page.evaluate(() => window.frames_.stop());
}
