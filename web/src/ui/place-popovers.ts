/** Pixels between a popover and its button, and between it and the edge of the window. */
const GAP = 6;

/**
 * Opens every popover at the button whose `popovertarget` it is. Not by CSS anchors: some browsers have none, and a popover that a
 * script opens has no anchor, so it would open in a corner of the window.
 */
export function placePopovers(): void {
  // Both do not bubble.
  document.addEventListener('beforetoggle', onToggle, { capture: true });
  addEventListener('scroll', placeOpen, { capture: true, passive: true });
  addEventListener('resize', placeOpen);
}

function onToggle(event: Event): void {
  const { target, newState } = event as ToggleEvent;
  if (!(target instanceof HTMLElement && target.popover && newState === 'open')) return;
  // It has its size only when it is shown: after this event, and before the next frame.
  requestAnimationFrame(() => place(target));
}

function placeOpen(): void {
  for (const popover of document.querySelectorAll<HTMLElement>('[popover]:popover-open')) place(popover);
}

/** Below its button where it fits or has more room, else above; never beyond the window. */
function place(popover: HTMLElement): void {
  const button = document.querySelector(`[popovertarget="${CSS.escape(popover.id)}"]`);
  if (!button) return;
  const anchor = button.getBoundingClientRect();
  // With fractions of a pixel, which `offsetHeight` has not.
  const { width, height } = popover.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const below = clientHeight - anchor.bottom;
  const isBelow = below >= height + 2 * GAP || below >= anchor.top;
  const top = isBelow ? anchor.bottom + GAP : anchor.top - GAP - height;
  const left = Math.min(anchor.left, clientWidth - GAP - width);
  popover.style.top = `${Math.max(GAP, top)}px`;
  popover.style.left = `${Math.max(GAP, left)}px`;
}
