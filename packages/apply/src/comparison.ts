/**
 * What a comparison found, as lists of the paths that it met. The same difference is met again and again (pods of one Deployment,
 * events of one controller, heartbeats of nodes), and its sets are made once.
 */
import { FieldSetBuilder, difference, union } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { shared } from './shared-field-sets.ts'
import { UNMANAGED_FIELDS } from './unmanaged-fields.ts'

/** Beyond these all are forgotten: paths name items by their keys, so that there is no end of them. */
const MOST_PATHS = 8_192
const MOST_COMPARISONS = 1_024

/** A path, by its last element: there is one object for each. */
class Path {
  readonly number: number
  readonly above: Path | undefined
  readonly element: string
  #below: Map<string, Path> | undefined

  constructor(above: Path | undefined, element: string) {
    this.number = paths.push(this) - 1
    this.above = above
    this.element = element
  }

  below(element: string): Path {
    const known = this.#below?.get(element)
    if (known !== undefined) return known
    const path = new Path(this, element)
    ;(this.#below ??= new Map()).set(element, path)
    return path
  }
}

let paths: Path[] = []
let root = new Path(undefined, '')
const comparisons = new Map<string, Comparison>()

/** The path of the whole object. Those of one comparison start from one. */
export function rootPath(): Path {
  if (paths.length > MOST_PATHS) {
    comparisons.clear()
    paths = []
    root = new Path(undefined, '')
  }
  return root
}

/** Numbers of paths, in the order in which they were met. */
export interface MetPaths {
  readonly added: readonly number[]
  readonly modified: readonly number[]
  readonly removed: readonly number[]
  readonly isPartial: boolean
}

export class Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
  /** All of them. */
  readonly touched: FieldSet
  /** Something that differs, or a status that is left out, has no path: an item without the keys that would name it. */
  readonly isPartial: boolean
  #taken: FieldSet | undefined

  private constructor({ added, modified, removed, isPartial }: MetPaths) {
    this.added = setOfPaths(added)
    this.modified = setOfPaths(modified)
    this.removed = setOfPaths(removed)
    this.touched = union(this.removed, union(this.modified, this.added))
    this.isPartial = isPartial
  }

  static of(met: MetPaths): Comparison {
    const key = `${met.isPartial ? '!' : ''}${met.added.join()}|${met.modified.join()}|${met.removed.join()}`
    let comparison = comparisons.get(key)
    if (comparison === undefined) {
      if (comparisons.size >= MOST_COMPARISONS) comparisons.clear()
      comparison = new Comparison(met)
      comparisons.set(key, comparison)
    }
    return comparison
  }

  /** What belongs to its author from now on. */
  get taken(): FieldSet {
    return (this.#taken ??= shared(difference(union(this.modified, this.added), UNMANAGED_FIELDS)))
  }
}

function setOfPaths(numbers: readonly number[]): FieldSet {
  const builder = new FieldSetBuilder()
  for (const number of numbers) {
    const elements: string[] = []
    for (let path = paths[number]!; path.above !== undefined; path = path.above)
      elements.push(path.element)
    builder.insert(elements.reverse(), elements.length)
  }
  return builder.build()
}
