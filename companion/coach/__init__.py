"""Values of positions, luck and skill, and pictures of finished games.

Games run here as NumPy arrays, thousands at a time. `companion.engine` stays the only judge of
real games; `companion.coach.proof` compares the two.
"""
