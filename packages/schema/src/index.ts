export {
  ConversionError,
  DecodeError,
  decodeObject,
  decodePart,
  emptyStatus,
  givenValue,
} from './decode.ts'
export type { DecodedObject } from './decode.ts'
export { FieldErrors } from './field-errors.ts'
export type { FieldError, FieldErrorType } from './field-errors.ts'
export { parseJson } from './json/json.ts'
export type { Occurrences, ParsedJson } from './json/json.ts'
export { spelledAs } from './quantity-spelling.ts'
