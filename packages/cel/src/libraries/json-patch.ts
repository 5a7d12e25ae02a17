/** What patch policies write: `JSONPatch{...}` and the escaping of keys in its paths. */
import { SHORTER_TEXT } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { DYN, STRING, objectType } from '../checking/types.ts'
import type { CelType, ObjectType } from '../checking/types.ts'

/** Of fields that there are not: nothing fits. */
const NOTHING: CelType = { kind: 'opaque', name: '', parameters: [] }

export const JSON_PATCH_TYPE: ObjectType = {
  ...objectType('JSONPatch', { op: STRING, path: STRING, from: STRING, value: DYN }),
  open: () => NOTHING,
}

export const JSON_PATCH: Library = {
  overloads: [
    declare(
      'jsonpatch.escapeKey(string): string',
      (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
      SHORTER_TEXT,
    ),
  ],
}
