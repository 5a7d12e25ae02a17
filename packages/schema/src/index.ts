export { DecodeError, decodeObject, decodePart, emptyStatus, givenValue } from './decode.ts'
export type { DecodedObject } from './decode.ts'
export { FieldErrors } from './field-errors.ts'
export type { FieldError, FieldErrorType } from './field-errors.ts'
export { parseJson } from './json.ts'
export type { Occurrences, ParsedJson } from './json.ts'
export {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  quantitySign,
} from './quantity.ts'
