// The seats of the table, and who sits there.
export const SEATS = 5;

/** Return a function that names a seat: by its player in the game, by whoever has it, or by its number. */
export const namesOf = (game, seats) => (seat) =>
  [...(game?.players ?? []), ...seats].find((each) => each.seat === seat)?.name ?? `#${seat + 1}`;
