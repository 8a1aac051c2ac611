/** Width of A4 between margins of 12 mm, CSS pixels. */
const PAPER_WIDTH = 703;

/**
 * Shrinks the page to the width of A4 while it is printed. Charts are drawn for the width that they have on the screen, and a
 * browser does not draw them again for paper.
 */
export function fitToPaper(): void {
  const { style } = document.body;
  addEventListener('beforeprint', () => {
    const width = document.body.clientWidth;
    if (width <= PAPER_WIDTH) return;
    style.width = `${width}px`;
    style.zoom = String(PAPER_WIDTH / width);
  });
  addEventListener('afterprint', () => {
    style.width = '';
    style.zoom = '';
  });
}
