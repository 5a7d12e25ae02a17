/** An object that is still being made and may be edited. Only the request that decoded it holds it. */
// oxlint-disable-next-line no-explicit-any -- rules walk schemas of ninety kinds; the schema engine has checked the shapes
export type Draft = Record<string, any>

/** A stored object: shared with caches and watchers, never edited. */
// oxlint-disable-next-line no-explicit-any -- as above
export type Stored = Readonly<Record<string, any>>

/** `T` while it is being made: what a client sent of it, decoded. Any field may be missing, rules may set it, and lists are replaced whole. */
export type DraftOf<T> = T extends readonly (infer Item)[]
  ? readonly DraftOf<Item>[]
  : T extends object
    ? string extends keyof T
      ? { [key: string]: DraftOf<T[keyof T]> }
      : { -readonly [Field in keyof T]?: DraftOf<T[Field]> }
    : T

/** `T` as it is stored: never edited. Any field may be missing. */
export type StoredOf<T> = T extends readonly (infer Item)[]
  ? readonly StoredOf<Item>[]
  : T extends object
    ? string extends keyof T
      ? { readonly [key: string]: StoredOf<T[keyof T]> }
      : { readonly [Field in keyof T]?: StoredOf<T[Field]> }
    : T
