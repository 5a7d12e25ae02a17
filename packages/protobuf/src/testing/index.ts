/** For tests: messages by hand and by schema, what Go made, and damage. */
export { ROUNDS, SEED, damagedBodies } from './damaged-bodies.ts'
export { encodeObject, envelope, field, numberField, tag, varint } from './messages.ts'
export { recordedAnswers, type RecordedAnswer } from './recorded-answers.ts'
