import { compareStrings } from '@gyropilot/foundation'

/** Claims that wait to be looked at, by namespace. What is taken is taken together. */
export class Batches {
  readonly #names = new Map<string, Set<string>>()

  add(namespace: string, name: string): void {
    const names = this.#names.get(namespace) ?? new Set()
    names.add(name)
    this.#names.set(namespace, names)
  }

  /** All that wait in the namespace, by name; they wait no longer. */
  take(namespace: string): readonly string[] {
    const names = [...(this.#names.get(namespace) ?? [])].sort(compareStrings)
    this.#names.delete(namespace)
    return names
  }
}
