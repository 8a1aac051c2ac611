import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A modal dialog. Escape and the close button call `onClose`; the focus returns to where it was. */
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
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
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
