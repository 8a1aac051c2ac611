import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';

/**
 * A modal dialog. Escape and the close button call `onClose`; the focus returns to where it was, or to the page where that is gone.
 * A new title stands for new content: the focus, which may have been in the old one, is then on the dialog.
 */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      const isThere = before instanceof HTMLElement && before.isConnected;
      (isThere ? before : document.getElementById('page'))?.focus();
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the title stands for the content
  useEffect(() => {
    const element = dialog.current!;
    if (!element.contains(document.activeElement)) element.focus();
  }, [props.title]);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      tabIndex={-1}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={id}>{props.title}</h2>
        <button type="button" className="btn icon" aria-label="Close" onClick={props.onClose}>
          <X aria-hidden="true" />
        </button>
      </header>
      {props.children}
    </dialog>
  );
}
