/** The OpenAPI documents of other API servers. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import type { Stored } from '@gyropilot/schema/objects'
import type { UserInfo } from '../contracts.ts'
import { toldBy, UNCHANGED } from './told.ts'
import type { Asking } from './told.ts'

const ASKER: UserInfo = { name: 'system:aggregator', groups: [], extra: {} }
const PREFIX = '/openapi/v3/'

/** What a server tells of one group version that it is asked for. */
export interface ForeignDocuments {
  /** `apis/example.com/v1` */
  readonly groupVersion: string
  /** Where it has which document of version 3 (`apis/example.com/v1`); absent: it knows no version 3. */
  readonly version3?: Readonly<Record<string, string>>
  /** All that it has, as swagger 2.0; absent: it has none. */
  readonly version2?: Stored
}

/** Documents that were told, with what a server knows them by. */
interface Known extends ForeignDocuments {
  readonly etag?: string | undefined
}

/** Undefined: it has taken its documents away, or has none. */
export type Describe = (apiService: string, documents: ForeignDocuments | undefined) => void

export class DocumentsOfBackends {
  readonly #parts: Asking
  readonly #describe: Describe
  /** By APIService. */
  readonly #known = new Map<string, Known>()

  constructor(parts: Asking, describe: Describe) {
    this.#parts = parts
    this.#describe = describe
  }

  /** Asks for them. What cannot be had now stays as it was. */
  async look(apiService: Stored): Promise<void> {
    const { group, version } = apiService['spec']
    const before = this.#known.get(apiService['metadata'].name)
    const [index, swagger] = [
      await toldBy(this.#parts, apiService, { path: '/openapi/v3', accept: '*/*', asker: ASKER }),
      await toldBy(this.#parts, apiService, {
        path: '/openapi/v2',
        accept: 'application/json',
        asker: ASKER,
        etag: before?.etag,
      }),
    ]
    const version3 = 'why' in index ? entriesWithout(index.why, before) : entriesOf(index.document)
    const isUnchanged = 'why' in swagger && swagger.why === UNCHANGED
    const version2 = 'why' in swagger ? before?.version2 : swagger.document
    const known: Known = {
      groupVersion: `apis/${group}/${version}`,
      ...(version3 === undefined ? {} : { version3 }),
      ...(version2 === undefined ? {} : { version2 }),
      etag: 'why' in swagger ? before?.etag : swagger.etag,
    }
    if (isUnchanged && sameEntries(before, known)) return
    this.#known.set(apiService['metadata'].name, known)
    this.#describe(apiService['metadata'].name, known)
  }

  forget(apiService: string): void {
    if (this.#known.delete(apiService)) this.#describe(apiService, undefined)
  }
}

function entriesOf({ paths }: Stored): Readonly<Record<string, string>> {
  const entries = Object.entries((paths ?? {}) as Readonly<Record<string, Stored | null>>)
  return Object.fromEntries(
    entries.flatMap(([name, entry]) => {
      const url: unknown = entry?.['serverRelativeURL']
      return typeof url === 'string' && url.startsWith(PREFIX) ? [[name, url]] : []
    }),
  )
}

/** Who has no such document knows no version 3. */
function entriesWithout(
  why: number | string,
  before: ForeignDocuments | undefined,
): ForeignDocuments['version3'] {
  return why === 404 ? undefined : before?.version3
}

function sameEntries(a: ForeignDocuments | undefined, b: ForeignDocuments): boolean {
  return JSON.stringify(a?.version3) === JSON.stringify(b.version3)
}
