import { type DragEvent, useState } from 'react';
import { type ChosenFile, droppedFiles } from '../../api/upload-files.ts';

/** Handlers of an element on which files can be dropped. */
export function useDropTarget(onFiles: (files: readonly ChosenFile[]) => void, isOpen: boolean) {
  const [isOver, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Without it the browser would open the file.
      event.preventDefault();
      setOver(isOpen);
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      setOver(false);
      if (isOpen) void droppedFiles(event.dataTransfer).then((files) => files.length > 0 && onFiles(files));
    },
  };
  return { isOver: isOver && isOpen, handlers };
}
