export { builtInSchema } from './built-in-schema.ts'
export { typeWarnings } from './type-check.ts'
