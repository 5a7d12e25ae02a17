/** An object that is still being made and may be edited. Only the request that decoded it holds it. */
// oxlint-disable-next-line no-explicit-any -- rules walk schemas of ninety kinds; the schema engine has checked the shapes
export type Draft = Record<string, any>

/** A stored object: shared with caches and watchers, never edited. */
// oxlint-disable-next-line no-explicit-any -- as above
export type Stored = Readonly<Record<string, any>>
