import type { ObjectStore } from '#domain/ports.ts';
import type { SignalFiles } from '#domain/signals/signals-ports.ts';
import { signalsKey } from './keys.ts';

/** Uploaded files in the bucket of results, without the addresses for uploads. */
export class StoredSignalFiles implements Omit<SignalFiles, 'offer'> {
  protected readonly objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.objects = objects;
  }

  async isUploaded(id: string): Promise<boolean> {
    const key = signalsKey(id);
    for await (const each of this.objects.list(key)) if (each === key) return true;
    return false;
  }

  async remove(id: string): Promise<void> {
    await this.objects.delete(signalsKey(id));
  }
}
