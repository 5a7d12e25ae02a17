import type { Mark } from './cursor.ts'

export type TokenType =
  | 'stream end'
  | 'version directive'
  | 'tag directive'
  | 'document start'
  | 'document end'
  | 'block sequence'
  | 'block mapping'
  | 'block end'
  | 'flow sequence'
  | 'flow sequence end'
  | 'flow mapping'
  | 'flow mapping end'
  | 'block entry'
  | 'flow entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly type: TokenType
  readonly mark: Mark
  /** Of scalars the content, of anchors and aliases the name, of tags what stands behind the handle, of directives what they say. */
  readonly text: string
  /** Of tags and their directives. */
  readonly handle?: string
  /** Of scalars: without quotes and no block. */
  readonly plain?: boolean
}
