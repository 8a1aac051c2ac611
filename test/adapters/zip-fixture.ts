import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly flags?: number;
  readonly method?: number;
  /** Stated size, bytes. Default: that of the content. */
  readonly size?: number;
  readonly crc?: number;
}

/** A zip file as APPNOTE.TXT describes it. `zip64`: sizes and positions in the fields of 64 bits, as Python writes them. */
export function zipOf(entries: readonly ZipEntry[], { zip64 = false, comment = '' } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, flags = 0, method = 8, ...stated } of entries) {
    const bytes = Buffer.from(content);
    const data = method === 8 ? deflateRawSync(bytes) : bytes;
    const { size = bytes.length, crc = crc32(bytes) } = stated;
    const sizes = zip64 ? [0xffff_ffff, 0xffff_ffff] : [data.length, size];
    const common = Buffer.concat([
      u16(flags, method, 0, 0),
      u32(crc, ...sizes),
      u16(Buffer.byteLength(name)),
    ]);
    const localExtra = zip64 ? Buffer.concat([u16(1, 16), u64(size, data.length)]) : Buffer.alloc(0);
    const extra = zip64 ? Buffer.concat([u16(1, 24), u64(size, data.length, offset)]) : Buffer.alloc(0);
    const local = Buffer.concat([
      u32(0x04034b50),
      u16(45),
      common,
      u16(localExtra.length),
      Buffer.from(name),
      localExtra,
      data,
    ]);
    directory.push(
      u32(0x02014b50),
      u16(45, 45),
      common,
      u16(extra.length, 0, 0, 0),
      u32(0),
      u32(zip64 ? 0xffff_ffff : offset),
      Buffer.from(name),
      extra,
    );
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const count = entries.length;
  const end64 = [
    u32(0x06064b50),
    u64(44),
    u16(45, 45),
    u32(0, 0),
    u64(count, count, list.length, offset),
    u32(0x07064b50, 0),
    u64(offset + list.length),
    u32(1),
  ];
  return Buffer.concat([
    ...parts,
    list,
    ...(zip64 ? end64 : []),
    u32(0x06054b50),
    u16(0, 0),
    ...(zip64
      ? [u16(0xffff, 0xffff), u32(0xffff_ffff, 0xffff_ffff)]
      : [u16(count, count), u32(list.length, offset)]),
    u16(comment.length),
    Buffer.from(comment),
  ]);
}

const u16 = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer);
const u32 = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
const u64 = (...values: number[]) => Buffer.from(BigUint64Array.from(values, BigInt).buffer);
